(module name: (constant) @name) @module
(module name: (scope_resolution name: (constant) @name)) @module
(class name: (constant) @name) @class
(class name: (scope_resolution name: (constant) @name)) @class
(singleton_method name: (_) @name) @singletonMethod
(method name: (_) @name) @method
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @alias
(call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name)
  (#eq? @_method "alias_method")) @alias
(call
  method: (identifier) @_method
  arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_method "attr_accessor" "attr_reader" "attr_writer")) @accessor
(call
  method: (identifier) @_method
  arguments: (argument_list . (simple_symbol) @name)
  (#eq? @_method "define_method")) @method
