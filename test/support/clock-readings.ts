// Finds in tests what judges by the clock of the machine: it fails when the machine is busy, and proves nothing when it is fast.

const READS: readonly RegExp[] = [
  /\bperformance\.now\(/,
  /\bhrtime\b/,
  /\btimed\(/,
  // A time of day may be written down; it may not be compared or subtracted, but from a deadline that came with a call.
  /Date\.now\(\)\s*[-<>]/,
  /(?<!getDeadline\(\)\) )[-<>]=?\s*Date\.now\(\)/,
  /\bMath\.random\b/,
  // A limit of uvu's suites, which this runner does not know.
  /\bsuite\([^)]*timeoutMs/,
];

/** `file:line: code` of each place, but for files that run alone. */
export function clockReadings(sources: ReadonlyMap<string, string>): string[] {
  return [...sources].flatMap(([path, text]) => {
    if (/^export const runs = 'alone';$/m.test(text)) return [];
    return text.split('\n').flatMap((line, at) => {
      const code = line.replace(/\/\/.*$/, '');
      return READS.some((reads) => reads.test(code)) ? [`${path}:${at + 1}: ${code.trim()}`] : [];
    });
  });
}
