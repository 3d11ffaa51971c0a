// Choices in a text: lines such as `1. Know more`, answered with the key before the dot. No DOM, so tests on Node import it.

export interface Choice {
  readonly key: string;
  readonly label: string;
}

/** Plain lines, or adjacent choices. */
export type TextPart = { readonly lines: string } | { readonly choices: readonly Choice[] };

const CHOICE = /^([0-9]{1,2}|\*|#)[.)] +(\S.*)$/;

/** Splits a text of a flow: `1. Know more` is a choice, answered with the key before the dot. */
export function textParts(text: string): TextPart[] {
  const parts: ({ lines: string } | { choices: Choice[] })[] = [];
  for (const line of text.split('\n')) {
    const [, key, label] = CHOICE.exec(line) ?? [];
    const last = parts.at(-1);
    if (key !== undefined && label !== undefined) {
      const choice = { key, label };
      if (last && 'choices' in last) last.choices.push(choice);
      else parts.push({ choices: [choice] });
    } else if (last && 'lines' in last) last.lines += `\n${line}`;
    else parts.push({ lines: line });
  }
  return parts;
}
