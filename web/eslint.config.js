import js from '@eslint/js';
import compat from 'eslint-plugin-compat';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'src/lib/api/generated/', 'src/lib/i18n/generated/'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  // What runs in a browser runs in those of package.json's browserslist.
  { ...compat.configs['flat/recommended'], files: ['src/**/*.ts', 'src/**/*.svelte'] },
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      // This rule is for SvelteKit's router; the console has its own.
      'svelte/no-navigation-without-resolve': 'off',
      // URL and URLSearchParams objects are replaced, never mutated.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    rules: {
      // TypeScript checks undefined names.
      'no-undef': 'off',
      // User input must never become markup.
      'svelte/no-at-html-tags': 'error',
      // The Content-Security-Policy blocks style attributes in markup; `style:` directives are allowed.
      'no-restricted-syntax': [
        'error',
        { selector: 'SvelteAttribute[key.name="style"]', message: 'Use a `style:` directive.' },
      ],
    },
  },
);
