// A rule for menus: texts do not shout. Its findings stand beside those of Twinline's own rules.

/** @type {import('twinline/flow').LintRule} */
export default {
  code: 'no-shouting',
  severity: 'error',
  means: 'a text is all capitals',
  *find({ flow }) {
    for (const [id, screen] of Object.entries(flow.screens)) {
      // A text is a string, or one string for each language.
      const texts = 'text' in screen ? screen.text : undefined;
      const byPlace = typeof texts === 'string' ? { '': texts } : (texts ?? {});
      for (const [lang, text] of Object.entries(byPlace)) {
        if (typeof text !== 'string' || !/[A-Z]{4}/.test(text) || text !== text.toUpperCase()) continue;
        const pointer = `/screens/${id}/text${lang && `/${lang}`}`;
        yield { pointer, message: `"${id}" shouts.`, fix: 'Say it calmly.' };
      }
    }
  },
};
