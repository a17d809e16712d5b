// Toast messages, optionally with an undo action.
import { errorMessage } from '../api/problem';

export interface Toast {
  id: number;
  text: string;
  tone: 'good' | 'bad';
  undo?: () => void | Promise<void>;
}

const TOAST_TIMEOUT_MS = 7_000;
/** More would cover the page. */
const MAX_TOASTS = 3;

class Toasts {
  list = $state<Toast[]>([]);
  #nextId = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  success(text: string, undo?: Toast['undo']): void {
    this.#add({ text, tone: 'good', undo });
  }

  error(error: unknown): void {
    this.#add({ text: errorMessage(error), tone: 'bad' });
  }

  dismiss(id: number): void {
    this.pause(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Keeps the toast while it is hovered or focused. */
  pause(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  resume(id: number): void {
    this.pause(id);
    this.#timers.set(
      id,
      setTimeout(() => this.dismiss(id), TOAST_TIMEOUT_MS),
    );
  }

  async undo(toast: Toast): Promise<void> {
    this.dismiss(toast.id);
    try {
      await toast.undo?.();
    } catch (error) {
      this.error(error);
    }
  }

  #add(toast: Omit<Toast, 'id'>): void {
    const id = this.#nextId++;
    for (const old of this.list.slice(0, Math.max(0, this.list.length + 1 - MAX_TOASTS))) this.dismiss(old.id);
    this.list.push({ id, ...toast });
    this.resume(id);
  }
}

export const toasts = new Toasts();
