// The end of a browser context in the middle of whatever its pages do.

/** Closes a context. Requests that its pages still send reach nobody, and handlers of routes that are under way end silently. */
export async function closeQuietly(context) {
  const routed = [...context.pages(), context];
  await Promise.all(routed.map((one) => one.unrouteAll({ behavior: "ignoreErrors" }).catch(() => {})));
  // A crashed tab sends none.
  await context.setOffline(true).catch(() => {});
  await context.close();
}
