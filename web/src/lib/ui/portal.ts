/** Portal target of menus, lists and tooltips: inside the main landmark, so that screen readers find them. */
export const PORTAL_TARGET = '#content';
