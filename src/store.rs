//! Private files: 0600 in 0700 directories, replaced atomically, locked between instances.
