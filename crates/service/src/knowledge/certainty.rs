//! How certain it is that a passage answers a question, from how much of the question it has.
//!
//! The same share of words means more on a site whose pages have little in common. Therefore each site has a
//! curve of its own, fitted with what is known about the site: each entry is asked against the rest.

/// The curve of a site with many entries, fitted with training data that no benchmark asks.
const INTERCEPT: f64 = -2.6;
const SLOPE: f64 = 6.7;
/// What the intercept of a site without entries lacks.
const STRICTNESS: f64 = 1.5;
/// The number of entries at which half of that is left.
const FEW_ENTRIES: f64 = 12.0;
/// How far the curve of a site is from that of others.
const INTERCEPT_SPREAD: f64 = 0.7;
const SLOPE_SPREAD: f64 = 1.5;
/// The weight of a question whose answer was taken away. Visitors ask more questions that are answered.
const UNANSWERABLE_WEIGHT: f64 = 0.4;
/// Rounds of Newton's method, which is at its end after a few.
const ROUNDS: usize = 12;

/// The certainty from which on a passage is the answer.
pub(crate) const SURE: f64 = 0.5;
/// The certainty from which on a passage may be the answer.
pub(crate) const MAYBE: f64 = 0.3;

/// A question to a site of which it is known whether the best page answers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    /// How much of the question the best page has.
    pub(super) fit: f64,
    pub(super) is_right: bool,
    /// Whether the site had an answer at all.
    pub(super) is_answerable: bool,
}

/// The curve of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    intercept: f64,
    slope: f64,
}

impl Calibration {
    /// Returns the curve of a site of this many entries of which nothing else is known. It is strict while
    /// there are few: then most questions have no answer, and one word in common means little.
    pub(crate) fn of_entries(entries: usize) -> Self {
        let entries = f64::from(u32::try_from(entries).unwrap_or(u32::MAX));
        let strictness = STRICTNESS * FEW_ENTRIES / (FEW_ENTRIES + entries);
        Self { intercept: INTERCEPT - strictness, slope: SLOPE }
    }

    /// Returns the curve that explains the probes best, and is like that of other sites of its size.
    pub(super) fn fitted(entries: usize, probes: &[Probe]) -> Self {
        let prior = Self::of_entries(entries);
        let (intercept_weight, slope_weight) = (INTERCEPT_SPREAD.powi(-2), SLOPE_SPREAD.powi(-2));
        let mut fitted = prior;
        for _ in 0..ROUNDS {
            let mut gradient = [
                (prior.intercept - fitted.intercept) * intercept_weight,
                (prior.slope - fitted.slope) * slope_weight,
            ];
            let mut curvature = [intercept_weight, 0.0, slope_weight];
            for probe in probes {
                let weight = if probe.is_answerable { 1.0 } else { UNANSWERABLE_WEIGHT };
                let expected = fitted.certainty(probe.fit);
                let error = weight * (f64::from(u8::from(probe.is_right)) - expected);
                let change = weight * expected * (1.0 - expected);
                gradient[0] += error;
                gradient[1] += error * probe.fit;
                curvature[0] += change;
                curvature[1] += change * probe.fit;
                curvature[2] += change * probe.fit * probe.fit;
            }
            let determinant = curvature[0] * curvature[2] - curvature[1] * curvature[1];
            fitted.intercept += (gradient[0] * curvature[2] - gradient[1] * curvature[1]) / determinant;
            fitted.slope += (gradient[1] * curvature[0] - gradient[0] * curvature[1]) / determinant;
        }
        // A page that has more of a question is never less certain.
        if fitted.slope > 1.0 && fitted.intercept.is_finite() { fitted } else { prior }
    }

    /// Returns how certain it is that a page answers a question of which it has this much, from 0 to 1.
    pub(crate) fn certainty(self, fit: f64) -> f64 {
        1.0 / (1.0 + (-self.intercept - self.slope * fit).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(fits: &[f64], is_right: bool) -> Vec<Probe> {
        fits.iter().map(|fit| Probe { fit: *fit, is_right, is_answerable: true }).collect()
    }

    #[test]
    fn half_of_a_question_is_enough_for_a_site_with_many_entries_only() {
        let certainty = |entries| Calibration::of_entries(entries).certainty(0.5);
        assert!(certainty(2) < SURE && certainty(2) > MAYBE && certainty(300) > SURE);
        assert!(Calibration::of_entries(0).certainty(0.9) > SURE, "most of it is");
    }

    #[test]
    fn a_site_whose_entries_are_alike_needs_more_of_a_question() {
        let alike = Calibration::fitted(100, &probes(&[0.5, 0.55, 0.6, 0.65, 0.5, 0.6, 0.6, 0.55], false));
        let distinct = Calibration::fitted(100, &probes(&[0.3, 0.35, 0.3, 0.25, 0.3, 0.35, 0.3, 0.25], true));
        let prior = Calibration::of_entries(100);
        assert!(alike.certainty(0.6) < prior.certainty(0.6));
        assert!(distinct.certainty(0.3) > prior.certainty(0.3));
    }

    #[test]
    fn no_probes_make_a_curve_that_falls_or_is_no_number() {
        for probes in [
            Vec::new(),
            probes(&[0.0; 500], true),
            probes(&[1.0; 500], false),
            [probes(&[0.9; 100], false), probes(&[0.1; 100], true)].concat(),
        ] {
            let fitted = Calibration::fitted(50, &probes);
            let certainties: Vec<f64> =
                (0_u8..=10).map(|part| fitted.certainty(f64::from(part) / 10.0)).collect();
            assert!(certainties.iter().all(|certainty| (0.0..=1.0).contains(certainty)));
            assert!(certainties.is_sorted(), "{certainties:?}");
        }
    }
}
