// Choices in a text: lines such as `1. Know more`, which are answered with what stands before the dot.

export interface Choice {
  readonly key: string;
  readonly label: string;
}

/** A part of a text: lines as they are, or choices that follow each other. */
export type TextPart = { readonly lines: string } | { readonly choices: readonly Choice[] };

const CHOICE = /^([0-9]{1,2}|\*|#)[.)] +(\S.*)$/;

/** The parts of a text in their order. */
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
