//! QR codes for cameras of phones.

use std::fmt::Write as _;

use chat_protocol::admin::QrCode as Drawing;
use qrcodegen::{QrCode, QrCodeEcc};

use crate::error::ApiError;

/// The width of the margin that readers need, in modules.
const MARGIN: i32 = 4;

/// Returns a text as a QR code.
///
/// # Errors
///
/// Fails for a text of more than 2,331 bytes, the maximum of a code.
pub(super) fn code(text: &str) -> Result<Drawing, ApiError> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).map_err(|_| ApiError::Internal)?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let run = (x..code.size()).take_while(|x| code.get_module(*x, y)).count();
            if run > 0 {
                let _ = write!(path, "M{} {}h{run}v1h-{run}z", x + MARGIN, y + MARGIN);
            }
            x += 1 + i32::try_from(run).unwrap_or_default();
        }
    }
    Ok(Drawing { size: code.size() + 2 * MARGIN, path })
}

#[cfg(test)]
mod tests {
    use rqrr::PreparedImage;

    use super::*;

    /// The size of a module of a drawing, in pixels.
    const SCALE: usize = 4;

    /// Draws the path into rows of modules.
    fn draw(Drawing { size, path }: &Drawing) -> Vec<Vec<bool>> {
        let size = usize::try_from(*size).expect("positive");
        let mut rows = vec![vec![false; size]; size];
        for run in path.split('M').skip(1) {
            let numbers: Vec<usize> =
                run.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
            let [x, y, length, ..] = numbers[..] else { panic!("{run}") };
            rows[y][x..x + length].fill(true);
        }
        rows
    }

    #[test]
    fn a_reader_reads_the_text() {
        let text = "otpauth://totp/Site%20Connector:ada%2Bx%40example.com\
                    ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Site%20Connector";
        let rows = draw(&code(text).expect("a code"));
        let side = rows.len() * SCALE;
        let grey = |x: usize, y: usize| if rows[y / SCALE][x / SCALE] { 0 } else { 255 };
        let mut image = PreparedImage::prepare_from_greyscale(side, side, grey);
        let [grid] = &image.detect_grids()[..] else { panic!("no code was found") };
        assert_eq!(grid.decode().expect("readable").1, text);
    }

    #[test]
    fn a_text_that_fits_no_code_is_an_error() {
        assert_eq!(code(&"x".repeat(3000)), Err(ApiError::Internal));
    }
}
