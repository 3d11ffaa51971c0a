// The words that the engine adds to screens where a flow has none of its own, by language. Those in Latin letters keep to the alphabet
// of phones: one other letter would halve the room of every screen.

import type { Label } from './flow.ts';

/** The texts of a flow that have a default: its labels, and `wait`. */
export type DefaultWord = Label | 'wait';
type DefaultWords = { readonly [word in DefaultWord]: string };

export const ENGLISH: DefaultWords = {
  back: 'Back',
  home: 'Home',
  more: 'More',
  exit: 'Exit',
  invalid: 'Invalid choice.',
  refused: 'Invalid answer.',
  goodbye: 'Goodbye.',
  wait: 'Please wait.\n1. Continue',
  resume: 'Continue where you stopped?',
  continue: 'Continue',
  restart: 'Start again',
};

// Translated by machine. Take a language off UNREVIEWED when somebody who speaks it has read its words.
const TRANSLATIONS: { readonly [lang: string]: DefaultWords } = {
  am: words(
    'ተመለስ',
    'መነሻ',
    'ቀጣይ',
    'ውጣ',
    'ትክክል ያልሆነ ምርጫ።',
    'ትክክል ያልሆነ መልስ።',
    'ደህና ይሁኑ።',
    'እባክዎ ይጠብቁ።',
    'ቀጥል',
    'ካቆሙበት ይቀጥሉ?',
    'እንደገና ጀምር',
  ),
  ar: words(
    'رجوع',
    'الرئيسية',
    'المزيد',
    'خروج',
    'اختيار غير صحيح.',
    'إجابة غير صحيحة.',
    'مع السلامة.',
    'يرجى الانتظار.',
    'متابعة',
    'هل تريد المتابعة من حيث توقفت؟',
    'البدء من جديد',
  ),
  bem: words(
    'Bweleni',
    'Kwa kutendekela',
    'Na fimbi',
    'Fumeni',
    'Mwasala icilubene.',
    'Mwayasuka icilubene.',
    'Shalenipo.',
    'Lindileni.',
    'Konkanyeni',
    'Mulefwaya ukukonkanya apo mwalekele?',
    'Tampeni cipya',
  ),
  bn: words(
    'ফিরুন',
    'শুরু',
    'আরও',
    'বের হন',
    'ভুল নম্বর।',
    'ভুল উত্তর।',
    'বিদায়।',
    'অপেক্ষা করুন।',
    'চালিয়ে যান',
    'যেখানে থেমেছিলেন সেখান থেকে চালিয়ে যাবেন?',
    'আবার শুরু',
  ),
  es: words(
    'Volver',
    'Inicio',
    'Siguiente',
    'Salir',
    'Respuesta incorrecta.',
    'Respuesta incorrecta.',
    'Hasta luego.',
    'Espere, por favor.',
    'Continuar',
    '¿Seguir donde estaba?',
    'Empezar de nuevo',
  ),
  fr: words(
    'Retour',
    'Accueil',
    'Suite',
    'Quitter',
    'Choix invalide.',
    'Réponse invalide.',
    'Au revoir.',
    'Veuillez patienter.',
    'Continuer',
    'Reprendre où vous étiez ?',
    'Recommencer',
  ),
  ha: words(
    'Koma baya',
    'Farko',
    'Gaba',
    'Fita',
    'Zabi ba daidai ba.',
    'Amsa ba daidai ba.',
    'Sai anjima.',
    'Da fatan a jira.',
    'Ci gaba',
    'A ci gaba daga inda ka tsaya?',
    'Sake farawa',
  ),
  hi: words(
    'वापस',
    'मुख्य मेनू',
    'और',
    'बाहर',
    'गलत विकल्प।',
    'गलत उत्तर।',
    'धन्यवाद।',
    'कृपया रुकें।',
    'आगे बढ़ें',
    'जहाँ रुके थे वहीं से आगे बढ़ें?',
    'फिर से शुरू',
  ),
  id: words(
    'Kembali',
    'Menu utama',
    'Lanjut',
    'Keluar',
    'Pilihan salah.',
    'Jawaban salah.',
    'Sampai jumpa.',
    'Mohon tunggu.',
    'Lanjutkan',
    'Lanjutkan dari yang tadi?',
    'Mulai lagi',
  ),
  ny: words(
    'Bwererani',
    'Poyambira',
    'Zina',
    'Tulukani',
    'Mwasankha molakwika.',
    'Mwayankha molakwika.',
    'Tsalani bwino.',
    'Dikirani.',
    'Pitirizani',
    'Mupitirize pomwe munaima?',
    'Yambaninso',
  ),
  pt: words(
    'Voltar',
    'Menu inicial',
    'Mais',
    'Sair',
    'Escolha errada.',
    'Resposta errada.',
    'Adeus.',
    'Aguarde, por favor.',
    'Continuar',
    'Continuar de onde parou?',
    'Iniciar de novo',
  ),
  sn: words(
    'Dzokera',
    'Pekutanga',
    'Zvimwe',
    'Buda',
    'Masarudza zvisiri izvo.',
    'Mapindura zvisiri izvo.',
    'Chisarai.',
    'Ndapota mirai.',
    'Enderera',
    'Enderera pamanga masvika?',
    'Tanga zvakare',
  ),
  sw: words(
    'Rudi',
    'Mwanzo',
    'Zaidi',
    'Ondoka',
    'Chaguo si sahihi.',
    'Jibu si sahihi.',
    'Kwaheri.',
    'Tafadhali subiri.',
    'Endelea',
    'Uendelee ulipoishia?',
    'Anza upya',
  ),
  yo: words(
    'Pada',
    'Ibere',
    'Siwaju',
    'Jade',
    'Asayan ko tona.',
    'Idahun ko tona.',
    'O dabo.',
    'E jowo, e duro.',
    'Tesiwaju',
    'Tesiwaju nibi ti e duro?',
    'Bere lati ibere',
  ),
  zu: words(
    'Emuva',
    'Ekuqaleni',
    'Okunye',
    'Phuma',
    'Ukukhetha akulungile.',
    'Impendulo ayilungile.',
    'Hamba kahle.',
    'Sicela ulinde.',
    'Qhubeka',
    'Qhubeka lapho ugcine khona?',
    'Qala kabusha',
  ),
};

/** Languages whose default words nobody who speaks them has read yet. */
export const UNREVIEWED: ReadonlySet<string> = new Set(Object.keys(TRANSLATIONS));

function words(
  back: string,
  home: string,
  more: string,
  exit: string,
  invalid: string,
  refused: string,
  goodbye: string,
  wait: string,
  go: string,
  resume: string,
  restart: string,
): DefaultWords {
  const question = { resume, continue: go, restart };
  return { back, home, more, exit, invalid, refused, goodbye, wait: `${wait}\n1. ${go}`, ...question };
}

/** Languages that have default words. */
export const WORD_LANGS: readonly string[] = ['en', ...Object.keys(TRANSLATIONS)];

/** The words of a language tag, such as `fr` for `fr-CI` and `fra`; undefined where there are none. */
export function findDefaultWords(lang: string): DefaultWords | undefined {
  const name = readLanguage(lang);
  return name === 'en' ? ENGLISH : Object.hasOwn(TRANSLATIONS, name) ? TRANSLATIONS[name] : undefined;
}

function readLanguage(lang: string): string {
  try {
    return new Intl.Locale(lang).language;
  } catch {
    return lang;
  }
}
