/** Where menus, lists and hints are put: inside the main landmark, so that screen readers find them there. */
export const LAYER = '#content';
