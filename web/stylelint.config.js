// Styles are linted against the browsers of package.json's browserslist, and newer properties than it knows against what
// all major browsers have (Baseline). What is newer needs a fallback, or is named here because the page works without it.
export default {
  overrides: [{ files: ['**/*.svelte'], customSyntax: 'postcss-html' }],
  plugins: ['stylelint-no-unsupported-browser-features', 'stylelint-plugin-use-baseline'],
  rules: {
    'plugin/no-unsupported-browser-features': [
      true,
      // Pointers, selections and handles that touch screens do not have.
      { severity: 'error', ignorePartialSupport: true, ignore: ['css3-cursors', 'css-selection', 'css-resize'] },
    ],
    'plugin/use-baseline': [
      true,
      {
        available: 'newly',
        ignoreProperties: {
          // Nicer line breaks, colours and scrolling.
          'text-wrap': ['pretty'],
          'text-wrap-style': ['pretty'],
          'accent-color': [],
          'overscroll-behavior': ['contain'],
          resize: [],
          // Every browser has the prefixed one before it.
          'line-clamp': [],
        },
        ignoreSelectors: ['selection'],
      },
    ],
  },
};
