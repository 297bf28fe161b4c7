// The slow line and processor on which pages are measured, and the median of what was measured.

/** Lighthouse's Slow 4G: milliseconds, and bytes per second. */
export const LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: (1.6 * 1024 * 1024) / 8,
  uploadThroughput: (750 * 1024) / 8,
};
/** The factor by which the processor is slowed. */
export const SLOWER = 4;

/** Returns the median of numbers. */
export const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
