// The light or dark theme. public/theme.js sets it before the first paint; this follows the toggle and the system setting.
type Mode = 'light' | 'dark';

const KEY = 'portico.theme';

class Theme {
  mode = $state<Mode>(document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');

  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
      if (!localStorage.getItem(KEY)) this.#show(event.matches ? 'dark' : 'light');
    });
  }

  toggle(): void {
    this.#show(this.mode === 'dark' ? 'light' : 'dark');
    localStorage.setItem(KEY, this.mode);
  }

  #show(mode: Mode): void {
    this.mode = mode;
    document.documentElement.dataset.theme = mode;
  }
}

export const theme = new Theme();
