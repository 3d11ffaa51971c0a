// Tokens of other versions of UCAN, known by their outer form: who sends one is told so, and nothing of it is read.

import { type Refused, refuse } from '../reason.ts';

// UCAN 0.8 to 0.10: header, payload and signature of a JWT.
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
// UCAN 1.0: [signature, {"h": …, "ucan/dlg@1.0.0-…": …}], as DAG-CBOR or as DAG-JSON. Signatures have up to 512 bytes.
const CBOR_LIST_OF_TWO = 0x82;
const TAG = /ucan\/[a-z/]{1,20}@1\./;
const LOOK_BYTES = 1_024;

/** Why a text that is no base64 is refused. */
export function refuseText(text: string): Refused {
  if (JWT.test(text)) return refuse('jwt');
  return refuse(text.startsWith('[') && TAG.test(text.slice(0, LOOK_BYTES)) ? 'ucan-1' : 'not-base64');
}

/** Why bytes that are no CAR are refused. */
export function refuseBytes(bytes: Buffer): Refused {
  const isEnvelope = bytes[0] === CBOR_LIST_OF_TWO && TAG.test(bytes.toString('latin1', 0, LOOK_BYTES));
  return refuse(isEnvelope ? 'ucan-1' : 'not-a-car');
}
