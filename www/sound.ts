// A short, soft tone for what comes in, while the visitor wants one.

const WANTED = "chat-widget:sound";
/** In hertz, and in seconds. */
const PITCH = 660;
const LENGTH = 0.18;

let audio: AudioContext | undefined;

/** Sounds, if the visitor turned the sound on. A browser that lets no page sound stays quiet. */
export function chime(): void {
  try {
    if (localStorage.getItem(WANTED) === null) return;
    audio ??= new AudioContext();
    const tone = new OscillatorNode(audio, { frequency: PITCH });
    const volume = new GainNode(audio, { gain: 0.08 });
    volume.gain.linearRampToValueAtTime(0, audio.currentTime + LENGTH);
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + LENGTH);
  } catch {
    // Storage or sound is blocked.
  }
}
