// The screens on which every scene is played.

/** The options of a browser context for each size; `clip` is the part of the page in the picture. */
export const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 }, clip: { x: 800, y: 0, width: 480, height: 800 } },
  laptop: { viewport: { width: 1366, height: 650 }, clip: { x: 886, y: 0, width: 480, height: 650 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  // The visible area of a phone above its keyboard.
  keyboard: { viewport: { width: 390, height: 420 }, isMobile: true, hasTouch: true },
  // A window of 1280 by 1024 pixels, at 400 %.
  zoom: { viewport: { width: 320, height: 256 } },
};

export const SCHEMES = ["light", "dark"];

/** Returns whether the window fills the screen, as in `styles/modes.css`. */
export const isFullScreen = (size) => SIZES[size].viewport.width < 480 || SIZES[size].viewport.height < 480;
export const isTouch = (size) => SIZES[size].hasTouch === true;
