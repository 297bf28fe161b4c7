//! The program that the console's page loads.

fn main() {
    chat_console::run();
}
