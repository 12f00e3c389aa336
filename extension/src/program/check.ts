import {
  byText,
  canRetry,
  judgeCall,
  judgeEvent,
  judgeFunction,
  type Level,
} from '../policy/table.ts';
import { checkKept } from './dialogs.ts';
import { checkEval } from './evals.ts';
import { Fault, refusal } from './failure.ts';
import { framePath, parsePath, pathsIn } from './ref.ts';
import type { Program, Step } from './types.ts';

const MAX_STEPS = 256;
const MAX_DEADLINE_MS = 120_000;

/**
 * Holds a program against its bounds and against the method table at a level, before anything runs; it throws a Fault
 * with bad_request for a wrong shape and forbidden for what the level does not permit. relay/program says the same.
 */
export function check(program: Program, level: Level): void {
  if (program.tab === '') throw refusal('the program names no tab');
  if (program.deadlineMS < 1 || program.deadlineMS > MAX_DEADLINE_MS) {
    throw refusal(`deadline_ms is not between 1 and ${MAX_DEADLINE_MS}`);
  }
  if (program.steps.length > MAX_STEPS) {
    throw refusal(`the program has more than ${MAX_STEPS} steps`);
  }
  checkKept(program.keepDialogs);
  for (const [i, step] of program.steps.entries()) {
    try {
      checkReferences(step, i);
      checkStep(program.steps, i, step, level);
    } catch (cause) {
      if (cause instanceof Fault) throw new Fault(cause.code, `step ${i}: ${cause.message}`);
      throw cause;
    }
  }
}

function checkReferences(step: Step, i: number): void {
  const paths = referencesOf(step);
  if (step.onlyIf !== null) paths.push(step.onlyIf);
  const frame = 'frame' in step ? framePath(step.frame) : '';
  if (frame !== '') paths.push(frame);
  paths.sort(byText);
  for (const path of paths) {
    if (parsePath(path).step >= i) {
      throw refusal(`reference "${path}" does not lead to an earlier step`);
    }
  }
}

function referencesOf(step: Step): string[] {
  switch (step.kind) {
    case 'run':
    case 'await_run':
      return pathsIn(step.args);
    case 'call':
      return pathsIn(step.params);
    case 'stop_if':
      return [step.path];
    case 'settle':
    case 'await_event':
    case 'eval':
      return [];
    default:
      throw step satisfies never;
  }
}

function checkStep(steps: readonly Step[], i: number, step: Step, level: Level): void {
  switch (step.kind) {
    case 'run':
      permit(judgeFunction(level, step.name).reason);
      return;
    case 'call':
      checkCall(steps, i, step, level);
      return;
    case 'settle':
      if (step.quietMS < 0 || step.quietMS > MAX_DEADLINE_MS) {
        throw refusal(`quiet_ms is not between 0 and ${MAX_DEADLINE_MS}`);
      }
      checkTime(step.maxMS);
      return;
    case 'await_event':
      checkTime(step.maxMS);
      permit(judgeEvent(level, step.event).reason);
      return;
    case 'await_run':
      checkTime(step.maxMS);
      permit(judgeFunction(level, step.name).reason);
      if (!canRetry(step.name)) throw refusal(`${step.name} is not a condition`);
      return;
    case 'stop_if':
      return;
    case 'eval':
      checkEval(step.expression, step.maxChars);
      permit(judgeCall(level, 'Runtime.evaluate', { expression: step.expression }).reason);
      return;
    default:
      throw step satisfies never;
  }
}

function checkTime(maxMS: number): void {
  if (maxMS < 1 || maxMS > MAX_DEADLINE_MS) {
    throw refusal(`max_ms is not between 1 and ${MAX_DEADLINE_MS}`);
  }
}

function permit(reason: string): void {
  if (reason !== '') throw new Fault('forbidden', reason);
}

function checkCall(
  steps: readonly Step[],
  i: number,
  step: Extract<Step, { kind: 'call' }>,
  level: Level,
): void {
  const { reason, located } = judgeCall(level, step.method, step.params);
  permit(reason);
  if (located.every((from) => isLocatedBy(steps, i, from, level))) return;
  permit(
    'x and y must come from one step that ran @locate in one frame, with nothing but mouse events there since',
  );
}

/** Does step i click where step `from` located, and every step between the two too? */
function isLocatedBy(steps: readonly Step[], i: number, from: number, level: Level): boolean {
  const source = steps[from];
  if (from >= i || source?.kind !== 'run' || source.name !== '@locate' || source.eachFrame) {
    return false;
  }
  return steps.slice(from + 1, i + 1).every((step) => {
    if (step.kind !== 'call' || step.method !== 'Input.dispatchMouseEvent') return false;
    const { located } = judgeCall(level, step.method, step.params);
    return located.length > 0 && located.every((other) => other === from);
  });
}
