// The context of a menu, its events, and the parameters of its guards and actions. Beside the variables the context has `$stack`, screens
// to go back to, `$undo`, what Back restores, `$page`, the page that is shown, `$bad`, refused answers in a row, `$frames`, the contexts of the calling flows where
// this flow was called by another (`$at` of each is the screen that made the call), and `$zone`, the time zone of the flow that was dialled.
// In a called flow `$asked` says that a service was asked, so what the flow gives back stays.
// Of inputs whose answers are refused later, `$tried` counts the refused answers, and `$why` names the way that refused the last one.

/** What a variable of a menu may hold: JSON. */
export type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data };

/** The variables of a menu; those of the engine begin with `$`. */
export interface MenuContext {
  readonly [variable: string]: Data;
  readonly $stack: readonly string[];
  readonly $page: number;
  readonly $bad: number;
}

/** Values of variables by name. */
export type MenuValues = { readonly [name: string]: Data };

/** What lib provides once at start. */
export interface MenuImplementations {
  /** Whether a condition holds over these variables. */
  holds(condition: string, scope: MenuValues): boolean;
  /** New values by name, as the flow's variables may hold them; expressions and texts are those of the flow `by`, @default the same. */
  evaluate(values: MenuValues, scope: MenuValues, flow: string, by?: string): MenuValues;
  /** These values over these variables, as a service gets them. */
  read(values: MenuValues, scope: MenuValues, flow: string): MenuValues;
  /** The value as that variable of the flow may hold it: cut to its declared size. */
  fit(flow: string, variable: string, value: Data): Data;
}

/** What a caller's answer means on a screen, and how a call of a service ended. */
export type MenuEvent =
  | { readonly type: `opt.${string}` | `back.${string}` | 'back' | 'home' | 'exit' | 'more' | 'invalid' }
  /** The flow has ended that the screen with this state has called. */
  | { readonly type: `return.${string}` }
  /** `accepted`: the answer satisfies the screen's rule. */
  | { readonly type: 'text'; readonly accepted: boolean; readonly value: Data }
  | { readonly type: 'pick'; readonly value: Data }
  | { readonly type: `xstate.done.actor.${string}`; readonly output: Data }
  | { readonly type: `xstate.error.actor.${string}`; readonly error: Data };

/** Parameters of the action `leave`: what changes when a screen is left. */
export interface Leave {
  /** The flow whose variables are set. */
  readonly of: string;
  /** The interactive screen that is left, to come back to. */
  readonly from?: string;
  /** Nothing lies behind the screen that is entered. */
  readonly barrier?: boolean;
  readonly save?: string;
  readonly set?: MenuValues;
  /** The input screen that is left, where the answer may still be refused. */
  readonly tried?: string;
}

/** Parameters of the action `enter`: a flow that is called. */
export interface Enter {
  /** The flow that is called. */
  readonly of: string;
  /** The state of the screen that calls it. */
  readonly at: string;
  /** Its variables with their defaults. */
  readonly vars: MenuValues;
  readonly with?: MenuValues;
  /** The flow that calls it, which `with` is written in. */
  readonly by?: string;
  /** Nothing lies behind its first screen. */
  readonly barrier?: boolean;
}

/** Parameters of the action `after`: calls of services after the reply. */
export interface After {
  /** The flow that the values are written in. */
  readonly of: string;
  readonly tasks: readonly { readonly id: string; readonly service: string; readonly with: MenuValues }[];
}

/** Parameters of the guard `when`: an expression of the flow. */
export interface Condition {
  readonly condition: string;
}
