//! The whole console, for development.

fn main() {
    chat_console::run(chat_console::Program::ALL);
}
