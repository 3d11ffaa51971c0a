// The engine in ten lines: a light that is changed by turns. The third request is the second one sent again.
import { compileMachine, createEngine, machineConversation, memorySnapshots, takeTurn } from 'twinline';
import { createMachine } from 'xstate';

const states = { red: { on: { GO: 'green' } }, green: { on: { STOP: 'red' } } };
const light = machineConversation(compileMachine(createMachine({ id: 'light', initial: 'red', states })));
const engine = createEngine({ store: memorySnapshots(), conversations: [light] });
const request = (turnKey, decision) => takeTurn(engine, { key: 'crossing', turnKey, decide: () => decision });
const go = { kind: 'input', input: { type: 'GO' } };
console.log((await request('a', { kind: 'begin', conversation: 'light' })).reply?.text);
console.log((await request('b', go)).reply?.text);
console.log((await request('b', go)).repeated);

// Prints:
//   "red"
//   "green"
//   true
