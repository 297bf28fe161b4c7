// Applies the stored colour scheme before the page is painted, and tells the style sheet that scripts run.

{
  let scheme = null;
  try {
    scheme = localStorage.getItem("chat-docs:scheme");
  } catch {
    // Storage is blocked. The page follows the system.
  }
  if (scheme === "dark" || scheme === "light") document.documentElement.dataset.scheme = scheme;
  document.documentElement.dataset.script = "";
}
