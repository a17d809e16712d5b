// Hands a file to the browser's downloads.
export function download(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has to begin reading first.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** `listings-2026-05-20.csv` */
export function datedName(name: string, extension: string, now = new Date()): string {
  return `${name}-${now.toISOString().slice(0, 10)}.${extension}`;
}
