/** The first of these in a row, at most `most`, and how many there are beyond: what a message has room for. */
export function firstFew(items: readonly string[], most: number, between = ', '): string {
  const more = items.length > most ? ` and ${items.length - most} more` : '';
  return `${items.slice(0, most).join(between)}${more}`;
}
