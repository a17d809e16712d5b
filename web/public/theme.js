// Sets the theme before the first paint. A file of its own, because the Content-Security-Policy allows no inline script.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('portico.theme');
  } catch {
    // Storage may be forbidden; then the system's preference holds.
  }
  var dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
