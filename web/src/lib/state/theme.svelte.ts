// The light or dark theme. public/theme.js sets it before the first paint; this follows the toggle and the system setting.
type Mode = 'light' | 'dark';

const THEME_STORAGE_KEY = 'portico.theme';

class Theme {
  mode = $state<Mode>(document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');

  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
      if (!localStorage.getItem(THEME_STORAGE_KEY)) this.#apply(event.matches ? 'dark' : 'light');
    });
  }

  toggle(): void {
    this.#apply(this.mode === 'dark' ? 'light' : 'dark');
    localStorage.setItem(THEME_STORAGE_KEY, this.mode);
  }

  #apply(mode: Mode): void {
    this.mode = mode;
    document.documentElement.dataset.theme = mode;
  }
}

export const theme = new Theme();
