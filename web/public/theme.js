// Sets the theme before the first paint. A separate file, because the Content-Security-Policy allows no inline script.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('portico.theme');
  } catch {
    // Storage may be disabled; use the system's preference.
  }
  var dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
