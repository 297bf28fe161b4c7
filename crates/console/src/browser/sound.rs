//! Sounds made by Web Audio, without a file.

use std::cell::RefCell;

use web_sys::{AudioContext, AudioContextState, OscillatorType};

thread_local! {
    static CONTEXT: RefCell<Option<AudioContext>> = const { RefCell::new(None) };
}

/// A tone: when it begins, in seconds, and its frequency in hertz.
pub type Tone = (f64, f32);

/// The length of a tone, in seconds.
const TONE_S: f64 = 0.22;
const VOLUME: f32 = 0.14;

/// Plays tones, if the browser allows it: most of them do so only after the operator has clicked or typed.
pub fn play(tones: &[Tone]) {
    CONTEXT.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = AudioContext::new().ok();
        }
        let Some(context) = slot else { return };
        if context.state() == AudioContextState::Suspended {
            _ = context.resume();
        }
        for (start_s, frequency) in tones {
            _ = tone(context, context.current_time() + start_s, *frequency);
        }
    });
}

fn tone(context: &AudioContext, start_s: f64, frequency: f32) -> Result<(), wasm_bindgen::JsValue> {
    let (oscillator, gain) = (context.create_oscillator()?, context.create_gain()?);
    oscillator.set_type(OscillatorType::Sine);
    oscillator.frequency().set_value(frequency);
    // Without a soft beginning and end, a tone clicks.
    gain.gain().set_value_at_time(0.0, start_s)?;
    gain.gain().linear_ramp_to_value_at_time(VOLUME, start_s + 0.02)?;
    gain.gain().exponential_ramp_to_value_at_time(0.001, start_s + TONE_S)?;
    oscillator.connect_with_audio_node(&gain)?;
    gain.connect_with_audio_node(&context.destination())?;
    oscillator.start_with_when(start_s)?;
    oscillator.stop_with_when(start_s + TONE_S)
}
