//! The test mode: fault injection, test control, and everything else that the demo and tests rely on.

mod client;

mod any_bytes;
mod assistant;
mod bounds;
mod faults;
mod jobs;
mod locale;
mod operator;
mod publishing;
mod same_origin;
mod serve;
