//! The program of the inbox, which operators open first.

fn main() {
    chat_console::run(chat_console::Program::INBOX);
}
