//! The turn, from outside: through the whole program, and through what both providers make of it.

mod program;
mod stories;
