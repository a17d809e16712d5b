// Toast messages, optionally with an undo action.
import { describe } from '../api/problem';

export interface Toast {
  id: number;
  text: string;
  tone: 'good' | 'bad';
  undo?: () => void | Promise<void>;
}

const STAYS = 7_000;

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  done(text: string, undo?: Toast['undo']): void {
    this.#add({ text, tone: 'good', undo });
  }

  failed(error: unknown): void {
    this.#add({ text: describe(error), tone: 'bad' });
  }

  dismiss(id: number): void {
    this.hold(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Keeps the toast while it is hovered or focused. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  release(id: number): void {
    this.hold(id);
    this.#timers.set(
      id,
      setTimeout(() => this.dismiss(id), STAYS),
    );
  }

  async undo(toast: Toast): Promise<void> {
    this.dismiss(toast.id);
    try {
      await toast.undo?.();
    } catch (error) {
      this.failed(error);
    }
  }

  #add(toast: Omit<Toast, 'id'>): void {
    const id = this.#next++;
    this.list.push({ id, ...toast });
    this.release(id);
  }
}

export const toasts = new Toasts();
