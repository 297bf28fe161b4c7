//! The geometry of charts. Lengths are fractions of the chart's width and height, 0 to 1.

/// A vertical axis from 0 to a round number.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The value at the top.
    pub top: i64,
    /// The values with a line, from 0 to the top.
    pub ticks: Vec<i64>,
}

impl Axis {
    /// Returns an axis for values up to a maximum, with at most five lines above 0.
    pub fn up_to(max: i64) -> Self {
        let max = max.max(1);
        let mut power: i64 = 1;
        let step = loop {
            let fits = [1, 2, 5].map(|digit| power.saturating_mul(digit));
            if let Some(step) = fits.into_iter().find(|step| (max - 1) / step < 5) {
                break step;
            }
            power = power.saturating_mul(10);
        };
        let count = (max - 1) / step + 1;
        let ticks: Vec<i64> = (0..=count).map(|number| step.saturating_mul(number)).collect();
        Self { top: step.saturating_mul(count), ticks }
    }

    /// Returns the height of a value.
    pub fn height(&self, value: i64) -> f64 {
        share(value, self.top)
    }
}

/// A rectangle. `x` and `y` are its upper corner on the side where the text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bar {
    /// The distance from the side where the text begins.
    pub x: f64,
    /// The distance from the top.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

impl Bar {
    /// Returns the distance from the left, for text in a direction.
    pub fn left(self, rtl: bool) -> f64 {
        if rtl { 1.0 - self.x - self.width } else { self.x }
    }
}

/// Returns the place of the bar with a number among so many, `fill` of whose room is painted. `below` is the
/// value that a part of the same bar beneath it has.
pub fn bar(axis: &Axis, number: usize, count: usize, fill: f64, below: i64, value: i64) -> Bar {
    let room = 1.0 / float(count.max(1));
    let height = axis.height(value);
    Bar {
        x: room * (float(number) + (1.0 - fill) / 2.0),
        y: 1.0 - axis.height(below) - height,
        width: room * fill,
        height,
    }
}

/// Returns the numbers of the entries of a horizontal axis that get a label, so that at most `max` are
/// written: the first one, and then one in so many.
pub fn labelled(count: usize, max: usize) -> Vec<usize> {
    let step = count.div_ceil(max.max(1)).max(1);
    (0..count).step_by(step).collect()
}

/// Returns how dark a cell of a heat map is, 0 for nothing to 4 for the most.
pub fn shade(value: i64, max: i64) -> u8 {
    match share(value, max) {
        share if share <= 0.0 => 0,
        share if share <= 0.25 => 1,
        share if share <= 0.5 => 2,
        share if share <= 0.75 => 3,
        _ => 4,
    }
}

/// A change from one period to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Nothing happened before that it could be compared with.
    Unknown,
    /// No difference that is shown.
    Same,
    /// More, by this share of what was before.
    Up(f64),
    /// Less, by this share of what was before.
    Down(f64),
}

/// Compares two periods.
pub fn change(before: Option<i64>, now: Option<i64>) -> Change {
    let (Some(before), Some(now)) = (before, now) else { return Change::Unknown };
    if before <= 0 {
        return if now == before { Change::Same } else { Change::Unknown };
    }
    let share = (wide(now) - wide(before)) / wide(before);
    if share.abs() < 0.005 {
        Change::Same
    } else if share > 0.0 {
        Change::Up(share)
    } else {
        Change::Down(-share)
    }
}

/// Returns a part of a whole, 0 to 1.
pub fn share(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { (wide(part) / wide(whole)).clamp(0.0, 1.0) }
}

#[allow(clippy::cast_precision_loss, reason = "a chart has no use for the last digits")]
fn wide(number: i64) -> f64 {
    number as f64
}

#[allow(clippy::cast_precision_loss, reason = "a chart has few bars")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_the_values() {
        assert_eq!(Axis::up_to(0).ticks, [0, 1]);
        assert_eq!(Axis::up_to(3).ticks, [0, 1, 2, 3]);
        assert_eq!(Axis::up_to(6).ticks, [0, 2, 4, 6]);
        assert_eq!(Axis::up_to(11).ticks, [0, 5, 10, 15]);
        assert_eq!(Axis::up_to(480).ticks, [0, 100, 200, 300, 400, 500]);
        for max in (1..5000).chain([i64::MAX / 2]) {
            let axis = Axis::up_to(max);
            assert!(axis.top >= max && axis.ticks.len() <= 6, "{max}: {axis:?}");
        }
    }

    #[test]
    fn bars_stand_beside_each_other_and_parts_on_each_other() {
        let axis = Axis::up_to(10);
        let first = bar(&axis, 0, 4, 0.5, 0, 4);
        assert_eq!(first, Bar { x: 0.0625, y: 0.6, width: 0.125, height: 0.4 });
        let upon = bar(&axis, 0, 4, 0.5, 4, 6);
        assert!(upon.y.abs() < 1e-9 && (upon.height - 0.6).abs() < 1e-9);
        let last = bar(&axis, 3, 4, 1.0, 0, 0);
        assert!((last.x + last.width - 1.0).abs() < 1e-9);
        assert!((last.left(true)).abs() < 1e-9 && (last.left(false) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn labels_leave_room_for_each_other() {
        assert_eq!(labelled(7, 8), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(labelled(30, 6), [0, 5, 10, 15, 20, 25]);
        assert_eq!(labelled(0, 6), [0usize; 0]);
        assert_eq!(labelled(3, 0), [0]);
    }

    #[test]
    fn shades_show_the_difference_between_nothing_and_a_little() {
        assert_eq!(shade(0, 100), 0);
        assert_eq!(shade(1, 100), 1);
        assert_eq!(shade(100, 100), 4);
        assert_eq!(shade(0, 0), 0);
    }

    #[test]
    fn a_change_needs_something_to_compare_with() {
        assert_eq!(change(Some(0), Some(5)), Change::Unknown);
        assert_eq!(change(None, Some(5)), Change::Unknown);
        assert_eq!(change(Some(0), Some(0)), Change::Same);
        assert_eq!(change(Some(1000), Some(1001)), Change::Same);
        assert_eq!(change(Some(4), Some(5)), Change::Up(0.25));
        assert_eq!(change(Some(4), Some(1)), Change::Down(0.75));
    }
}
