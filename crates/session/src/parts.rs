//! The parts of a long history: the indexes at which a driver divides a response.

/// Returns the index of the first message that the session lacks. A service may list all messages to each
/// poll, and the session has those up to the one with the cursor's id: `is_cursor` says which one that is.
pub fn first_part_start(count: u32, is_cursor: impl Fn(u32) -> bool) -> u32 {
    (0..count).rev().find(|index| is_cursor(*index)).map_or(0, |index| index + 1)
}

/// Returns the index after a part that begins at `from` and has at least `len` messages, or the rest. It ends
/// with a message that has an id, because the session polls after that.
pub fn part_end(from: u32, len: u32, count: u32, has_id: impl Fn(u32) -> bool) -> u32 {
    let mut end = count.min(from.saturating_add(len));
    while end < count && !has_id(end - 1) {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_a_message_that_has_an_id() {
        let ends = |with_id: &'static [u32]| {
            let mut ends = vec![part_end(0, 2, 7, |index| with_id.contains(&index))];
            while ends[ends.len() - 1] < 7 {
                ends.push(part_end(ends[ends.len() - 1], 2, 7, |index| with_id.contains(&index)));
            }
            ends
        };
        assert_eq!(ends(&[0, 1, 2, 3, 4, 5, 6]), [2, 4, 6, 7]);
        assert_eq!(ends(&[2, 5]), [3, 6, 7]);
        assert_eq!(ends(&[]), [7], "the session could not poll after any of them");
        assert_eq!(part_end(3, u32::MAX, 7, |_| true), 7);
    }

    #[test]
    fn a_response_that_lists_known_messages_is_divided_after_the_cursor() {
        assert_eq!(first_part_start(7, |index| index == 2), 3);
        assert_eq!(first_part_start(7, |index| index == 1 || index == 6), 7, "the last one counts");
        assert_eq!(first_part_start(7, |_| false), 0, "the cursor is the id of no message");
    }
}
