//! From what servers list to what the catalog holds: filters, names, pins, prices. Pure.
