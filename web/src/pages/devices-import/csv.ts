// Parses and writes CSV (RFC 4180) as spreadsheets export it: quotes, line breaks inside quotes, a byte order mark, and
// semicolons or tabs instead of commas.
export interface Line {
  /** Line number in the text, from 1. */
  line: number;
  cells: string[];
}

export function parseCsv(text: string): Line[] {
  const source = text.replace(/^\uFEFF/, '');
  const delimiter = detectDelimiter(source);
  const lines: Line[] = [];
  let cells: string[] = [];
  let cell = '';
  let inQuotes = false;
  let line = 1;
  let start = 1;

  const endLine = () => {
    cells.push(cell);
    // Skip empty lines.
    if (cells.some((value) => value.trim() !== '')) lines.push({ line: start, cells });
    cells = [];
    cell = '';
  };
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string;
    if (inQuotes) {
      if (char === '"' && source[i + 1] === '"') {
        cell += '"';
        i += 1;
      } else if (char === '"') inQuotes = false;
      else cell += char;
      if (char === '\n') line += 1;
    } else if (char === '"' && cell.trim() === '') {
      cell = '';
      inQuotes = true;
    } else if (char === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && source[i + 1] === '\n') i += 1;
      endLine();
      line += 1;
      start = line;
    } else cell += char;
  }
  endLine();
  return lines;
}

/** The delimiter that occurs most often in the first line. */
function detectDelimiter(source: string): string {
  const first = source.split(/[\r\n]/, 1)[0] ?? '';
  const count = (delimiter: string) => first.split(delimiter).length - 1;
  return [',', ';', '\t'].reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

/** Quotes cells that contain a delimiter, a quote or a line break. */
export function writeCsv(rows: string[][]): string {
  const cell = (text: string) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((cells) => cells.map(cell).join(',') + '\r\n').join('');
}
