// For tests: finds text for people that is written into a source file instead of messages/.
import { parse } from 'svelte/compiler';
import ts from 'typescript';

/** Words that are the same in every language. */
const NAMES = /\b(Portico|JSON|CSV|API|URL|SSN|HTTP|OpenAPI|curl|JavaScript|Python|GraphQL|PMTiles|OpenStreetMap)\b/g;

/** Attributes that nobody reads. */
const TECHNICAL_ATTRIBUTE =
  /^(class|d|id|for|href|src|type|name|rel|role|scope|spellcheck|tone|size|key|lang|to|as|icon|viewBox|points|transform|fill|stroke.*|accept|list|hide|by|draftKey|autocapitalize|autocomplete|inputmode|pattern|side|align|target|method|width|height|x|y|r|cx|cy|x1|x2|y1|y2|dy|dx|text-anchor|preserveAspectRatio|data-.*|aria-(hidden|live|haspopup|current|controls|describedby|labelledby|invalid|expanded|sort|atomic|relevant|orientation|checked|selected|pressed|busy|modal|disabled))$/;

/** A command of a shell is typed as it is. */
const COMMAND = /^(curl|export) |-H "/m;

/** A sentence, a phrase of several words, or a capitalised word. */
function isText(text: string): boolean {
  if (COMMAND.test(text)) return false;
  const plain = text.replaceAll(NAMES, '');
  return (
    /\p{L}{2}/u.test(plain) && (/^\p{Lu}\p{Ll}+[.!?…]?$/u.test(plain.trim()) || /\p{L}{2}[,:;]? +\p{L}/u.test(plain))
  );
}

interface Node {
  type: string;
  start: number;
  [property: string]: unknown;
}

/** Text in the markup of a component. */
export function literalsInMarkup(source: string): string[] {
  const found: string[] = [];
  const visit = (node: Node, isTechnical: boolean) => {
    if (node.type === 'Text' && !isTechnical) {
      const text = String(node.data);
      if (/\p{L}{2}/u.test(text.replaceAll(NAMES, ''))) found.push(text.trim());
    }
    if (node.type === 'Literal' && typeof node.value === 'string' && isText(node.value) && !isTechnical)
      found.push(node.value);
    if (node.type === 'TemplateElement' && !isTechnical) {
      const { cooked } = node.value as { cooked: string };
      if (isText(cooked)) found.push(cooked);
    }
    const isAttribute =
      node.type === 'StyleDirective' || (node.type === 'Attribute' && TECHNICAL_ATTRIBUTE.test(String(node.name)));
    const isCode = node.type === 'RegularElement' && ['code', 'pre'].includes(String(node.name));
    for (const child of children(node)) visit(child, isTechnical || isAttribute || isCode);
  };
  visit(parse(source, { modern: true }).fragment as unknown as Node, false);
  return found;
}

function children(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === 'object' && value !== null && 'type' in value);
}

/** Text in TypeScript: the script of a component, or a module. */
export function literalsInScript(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || isTechnicalPlace(node)) return;
    if (
      (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) &&
      isText(node.text)
    )
      found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', source, ts.ScriptTarget.ESNext, true));
  return found;
}

/** Keys of objects, names of headers, keys and events, and what programmers read. */
function isTechnicalPlace(node: ts.Node): boolean {
  const { parent } = node;
  if (!parent || !ts.isStringLiteralLike(node)) return false;
  if (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) return parent.name === node;
  if (ts.isElementAccessExpression(parent) || ts.isCaseClause(parent)) return true;
  if (ts.isBinaryExpression(parent)) return /^([!=]==?|in)$/.test(parent.operatorToken.getText());
  if (ts.isCallExpression(parent))
    return /(\.(get|set|has|append|includes|startsWith|endsWith|querySelector|closest|matches)|Exception)$/.test(
      parent.expression.getText(),
    );
  return false;
}

export function literals(name: string, source: string): string[] {
  if (!name.endsWith('.svelte')) return literalsInScript(source);
  const scripts = [...source.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, script]) => script ?? '');
  return [...scripts.flatMap(literalsInScript), ...literalsInMarkup(source)];
}
