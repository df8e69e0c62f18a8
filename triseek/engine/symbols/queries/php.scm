(namespace_definition name: (namespace_name) @name) @namespace
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @enumerator
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(const_declaration (const_element . (name) @name)) @constant
(property_declaration (property_element name: (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
(function_call_expression
  function: (name) @_function
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_function "define")) @constant
(assignment_expression left: (variable_name (name) @name)) @variable
[(anonymous_function) (arrow_function)] @local
