// The screens on which every scene is played.

/** Each is the options of a browser context; `clip` is the part of the page that is worth a picture. */
export const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 }, clip: { x: 800, y: 0, width: 480, height: 800 } },
  laptop: { viewport: { width: 1366, height: 650 }, clip: { x: 886, y: 0, width: 480, height: 650 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  // The keyboard is up: what is left of the phone.
  keyboard: { viewport: { width: 390, height: 420 }, isMobile: true, hasTouch: true },
  // A window of 1280 by 1024 pixels, at 400 %.
  zoom: { viewport: { width: 320, height: 256 } },
};

export const SCHEMES = ["light", "dark"];

/** Whether the window takes the whole screen, as in `styles/modes.css`. */
export const isFullScreen = (size) => SIZES[size].viewport.width < 480 || SIZES[size].viewport.height < 480;
export const isTouch = (size) => SIZES[size].hasTouch === true;
