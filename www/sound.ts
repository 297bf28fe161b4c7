// A short, soft tone for what comes in; loaded by a visitor who wants one.

/** In hertz, and in seconds. */
const PITCH = 660;
const LENGTH = 0.18;

let audio: AudioContext | undefined;

/** Sounds. A browser that lets no page sound stays quiet. */
export default function chime(): void {
  try {
    audio ??= new AudioContext();
    const tone = new OscillatorNode(audio, { frequency: PITCH });
    const volume = new GainNode(audio, { gain: 0.08 });
    volume.gain.linearRampToValueAtTime(0, audio.currentTime + LENGTH);
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + LENGTH);
  } catch {
    // Sound is blocked.
  }
}
