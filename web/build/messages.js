// Compiles messages/ into typed functions, `m.common_cancel()`, in src/lib/i18n/generated/.
import { compile } from '@inlang/paraglide-js';

/**
 * One module per message, so that a page loads only its own; one per language where every module is a request.
 * @returns {import('@inlang/paraglide-js').CompilerOptions}
 */
export function messageOptions({ isServed = false } = {}) {
  return {
    project: './project.inlang',
    outdir: './src/lib/i18n/generated',
    outputStructure: isServed ? 'locale-modules' : 'message-modules',
    // src/lib/i18n/language.ts chooses the language.
    strategy: ['globalVariable', 'baseLocale'],
    emitReadme: false,
    emitGitIgnore: false,
    emitPrettierIgnore: false,
  };
}

if (import.meta.filename === process.argv[1]) await compile(messageOptions());
