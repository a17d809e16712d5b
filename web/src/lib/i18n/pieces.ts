// The pieces of a message with marked parts, in order. Marks are not nested.
import type { MessagePart } from './generated/runtime.js';

export interface Piece {
  /** Of the mark; undefined outside of one. */
  name?: string;
  text: string;
}

export function toPieces(parts: readonly MessagePart[]): Piece[] {
  const pieces: Piece[] = [];
  let name: string | undefined;
  for (const part of parts) {
    if (part.type === 'markup-start') pieces.push({ name: (name = part.name), text: '' });
    else if (part.type === 'markup-end') name = undefined;
    else if (part.type === 'text') {
      const last = pieces.at(-1);
      if (last && last.name === name) last.text += part.value;
      else pieces.push({ name, text: part.value });
    }
  }
  return pieces;
}
