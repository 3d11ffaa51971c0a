// Which flow a service code starts, where one gateway serves several.

/** A service code, such as `*700*4#`, and the flow that it starts. */
export interface FlowCode {
  readonly code: string;
  readonly flow: string;
}

/** What a dial starts. */
export interface DialledFlows {
  /** The flow of all other codes. */
  readonly flow: string;
  /** @default none */
  readonly codes?: readonly FlowCode[] | undefined;
}

/** `<service code>:<flow>`. */
export const FLOW_CODE = /^(\*\d+(?:\*\d+)*#):([A-Za-z][\w-]{0,63})$/;

/** The entries of a list such as `*700*4#:bus,*700*5#:awards,main`; of names without a code the last one counts. */
export function readDialledFlows(
  entries: readonly string[],
): Required<DialledFlows> & { readonly codes: readonly FlowCode[] } {
  const codes = entries.flatMap((entry): FlowCode[] => {
    const [, code, flow] = FLOW_CODE.exec(entry) ?? [];
    return code === undefined ? [] : [{ code, flow: flow! }];
  });
  const flow = entries.findLast((entry) => !FLOW_CODE.test(entry)) ?? 'main';
  return { flow, codes };
}

/** The names of all flows that can be dialled. */
export function listDialled({ flow, codes = [] }: DialledFlows): string[] {
  return [...new Set([flow, ...codes.map((one) => one.flow)])];
}

/** The flow that a service code starts, and the answers that follow the code: `*700*4*1*2#` is `*700*4#` with 1 and 2. */
export function chooseFlow(
  { flow, codes = [] }: DialledFlows,
  serviceCode: string,
): { readonly flow: string; readonly answers: readonly string[] } {
  const stem = (code: string) => code.slice(0, -1);
  const fits = ({ code }: FlowCode) => serviceCode === code || serviceCode.startsWith(`${stem(code)}*`);
  const [best] = codes.filter(fits).sort((a, b) => b.code.length - a.code.length);
  if (!best) return { flow, answers: [] };
  const rest = stem(serviceCode).slice(best.code.length);
  return { flow: best.flow, answers: rest === '' ? [] : rest.split('*') };
}
