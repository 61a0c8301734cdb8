//! Anything that a program or a file can tell.

mod command;
mod file;
mod newest;
mod values;

pub use command::FromCommand;
pub use file::FromFile;
pub use newest::NewestFile;
