import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'src/lib/api/generated/'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      // The router is our own; the rule is about SvelteKit's.
      'svelte/no-navigation-without-resolve': 'off',
      // Addresses are replaced as a whole, never changed in place.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    rules: {
      // TypeScript knows better which names exist.
      'no-undef': 'off',
      // Nothing that was typed by a person may become markup.
      'svelte/no-at-html-tags': 'error',
      // The Content-Security-Policy refuses style attributes in markup; `style:` directives are fine.
      'no-restricted-syntax': [
        'error',
        { selector: 'SvelteAttribute[key.name="style"]', message: 'Use a `style:` directive.' },
      ],
    },
  },
);
