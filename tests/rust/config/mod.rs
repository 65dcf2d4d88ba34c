//! Settings and how they are checked.

mod options;
mod url;
