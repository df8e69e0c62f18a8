(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_body name: (property_identifier) @name @enumerator)
(enum_assignment name: (property_identifier) @name) @enumerator
(type_alias_declaration name: (type_identifier) @name) @alias
(internal_module name: (identifier) @name) @namespace
(internal_module name: (nested_identifier property: (property_identifier) @name)) @namespace
(module name: (identifier) @name) @namespace
(module name: (nested_identifier property: (property_identifier) @name)) @namespace
(module name: (string (string_fragment) @name)) @namespace
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(method_signature name: (property_identifier) @name) @method
(abstract_method_signature name: (property_identifier) @name) @method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name) @field
(property_signature name: (property_identifier) @name) @field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
(required_parameter "readonly" pattern: (identifier) @name) @field
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)
(variable_declarator name: (identifier) @name) @variable
(variable_declarator
  value: (object
    (pair
      key: (property_identifier) @name
      value: [(arrow_function) (function_expression) (generator_function)]) @method))
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @function
[(arrow_function) (function_expression) (generator_function) (class_static_block)] @local
