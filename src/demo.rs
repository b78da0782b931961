//! The demo: two real HTTP services on the loopback interface.
