// The icons of met, not met, not checked and expired. They only repeat the word.
import Check from '@lucide/svelte/icons/check';
import CircleDashed from '@lucide/svelte/icons/circle-dashed';
import Clock from '@lucide/svelte/icons/clock-alert';
import X from '@lucide/svelte/icons/x';

export const STATUS_ICONS = { good: Check, plain: CircleDashed, warn: Clock, bad: X };
