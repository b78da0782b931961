//! Appends JSON lines, lists, reads back; a torn last line is ignored on reading.
