// Ids and languages of containers: the same ones each time a flow is written.

import { createHash } from 'node:crypto';

/** A uuid of version 5, of a name of ours. */
export function makeUuid(...names: readonly string[]): string {
  const bytes = createHash('sha1')
    .update(`twinline\n${names.join('\n')}`)
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// ISO 639-1 → ISO 639-3, for languages that menus are written in.
const ISO_639_3: { readonly [code: string]: string } = Object.fromEntries(
  'am:amh ar:ara bm:bam bn:ben de:deu en:eng es:spa ff:ful fr:fra gu:guj ha:hau hi:hin id:ind ig:ibo it:ita ja:jpn kg:kon ki:kik km:khm kn:kan ko:kor lg:lug ln:lin mg:mlg ml:mal mr:mar ms:msa my:mya nd:nde ne:nep nl:nld nr:nbl ny:nya om:orm or:ori pa:pan pt:por rn:run ru:rus rw:kin sg:sag si:sin sn:sna so:som ss:ssw st:sot sw:swa ta:tam te:tel th:tha ti:tir tl:tgl tn:tsn ts:tso tw:twi ur:urd ve:ven vi:vie wo:wol xh:xho yo:yor zh:zho zu:zul'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
/** Of languages that ISO 639-3 has no code for. */
const NONE = 'mis';

/** A language as containers describe it. */
export function describeLanguage(tag: string): { readonly [key: string]: string | null } {
  const [code = '', ...variant] = tag.split('-');
  const iso = code.length === 3 ? code.toLowerCase() : (ISO_639_3[code.toLowerCase()] ?? NONE);
  return { id: tag, label: tag, iso_639_3: iso, variant: variant.join('-') || null, bcp_47: tag };
}
