//! The program of the settings, publishing, the reports and the own account.

fn main() {
    chat_console::run(chat_console::Program::PAGES);
}
